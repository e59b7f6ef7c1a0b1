"""The JSON interface `/api/v1`: typed routes, from which the OpenAPI document is generated.

Routes call services and return schemas; they render no HTML.
"""
