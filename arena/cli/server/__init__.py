"""Commands of the operator: they run the processes of an arena and maintain its database."""
