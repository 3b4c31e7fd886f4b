// class: budget-output | profile: strict out=64 time=1500 | must: stopped: output or stopped: time or stopped: cpu
for (;;) progress(1, 2, "x".repeat(1000));
