"""The one process that plans, hands out, records and rates; whoever holds the lease."""
