package fakeharness

func newPi(c *client) program { return newClaude(c) }

func newCodex(c *client) program { return newClaude(c) }
