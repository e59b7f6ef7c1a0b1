"""HTTP foundations that the JSON interface and the pages share: identity, rate limits, problems, caching, streams. The
package imports neither of the two: both are built on top of it.
"""
