"""What words make over: things named, classes given up, states that cannot last."""
