"""The arena service: tournaments, ratings, pages and a JSON interface over one database."""
