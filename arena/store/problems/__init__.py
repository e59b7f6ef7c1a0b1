"""Problems to solve, first attempts at them, and the ratings of people and problems against each other."""
