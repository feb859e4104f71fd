"""The commands of an author: check, test, simulate, plan and deploy the YAML."""
