"""HTTP plumbing that the JSON interface and the pages stand on: who asks, how often, errors, caching, streams."""
