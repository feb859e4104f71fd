"""The forms of answers: values of the engine as the JSON of the contract."""
