package leaky
