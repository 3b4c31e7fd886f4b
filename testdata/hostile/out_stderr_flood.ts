// class: budget-output | profile: strict out=64 mem=64 | must: stopped: output
for (;;) process.stderr.write("x".repeat(1000));
