"""The JSON interface `/api/v1`: typed routes, from which its OpenAPI document is made. Refuses to know HTML."""
