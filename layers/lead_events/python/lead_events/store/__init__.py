"""Adapters of the ports: DynamoDB and S3, and their twins in memory. One contract suite holds for both."""
