package tight

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
