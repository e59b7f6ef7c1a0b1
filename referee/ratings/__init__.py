"""What results say of strength: ratings, standings, tests. Pure arithmetic, no IO."""
