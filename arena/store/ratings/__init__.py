"""TrueSkill ratings, updated by one writer in the order of commit numbers, so that a rebuild reproduces every digit."""
