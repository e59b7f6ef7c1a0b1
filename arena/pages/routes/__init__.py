"""Routes of the pages, one module per subject: call services, render a template."""
