"""The local twin: the real CDK app on MiniStack, an AWS emulator in one process. See docs/decisions/."""
