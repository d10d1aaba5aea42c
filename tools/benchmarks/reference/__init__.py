"""What the figures are held against: the seeds' design taken to the letter, built as Powertools' documentation shows it."""
