package ispconfigtest

import "strings"

// The engine's own store of values. It is in no journal, shown nowhere, and belongs to
// no client. Its keys are compared without regard to case.

const noRecord = "There is no record with this group plus name field combination."

func (c *call) configKey() string { return strings.ToLower(c.text("group") + " " + c.text("name")) }

func (c *call) configValue() answer {
	value, is := c.engine.configValues[c.configKey()]
	if !is {
		return ok(nil)
	}
	return ok(object{{"group", c.text("group")}, {"name", c.text("name")}, {"value", value}})
}

// setConfigValue keeps a value as the engine's column does: cut without a word.
func (c *call) setConfigValue() answer {
	value := c.text("value")
	if c.text("group") == "" || c.text("name") == "" || value == "" {
		return remote("Group, name, and value parameter may not be empty.")
	}
	c.violate(len(value) > 255 || len(c.text("name")) > 64, "a value that is cut")
	if c.engine.configValues == nil {
		c.engine.configValues = map[string]string{}
	}
	c.engine.configValues[c.configKey()] = value[:min(len(value), 255)]
	return ok(true)
}

// addConfigValue answers who is second with a fault. One that looked before the first had
// written is answered false.
func (c *call) addConfigValue() answer {
	_, is := c.engine.configValues[c.configKey()]
	if is {
		return remote("Group plus name field combination is not unique.")
	}
	if hook := c.engine.between; hook != nil {
		c.engine.mu.Unlock()
		hook()
		c.engine.mu.Lock()
		if _, is := c.engine.configValues[c.configKey()]; is {
			return ok(false)
		}
	}
	return c.setConfigValue()
}

func (c *call) changeConfigValue() answer {
	if _, is := c.engine.configValues[c.configKey()]; !is {
		return remote(noRecord)
	}
	return c.setConfigValue()
}

func (c *call) removeConfigValue() answer {
	if _, is := c.engine.configValues[c.configKey()]; !is {
		return remote(noRecord)
	}
	delete(c.engine.configValues, c.configKey())
	return ok(true)
}
