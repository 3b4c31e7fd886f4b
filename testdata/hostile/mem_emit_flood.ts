// class: budget-output | profile: strict out=64 mem=64 | must: stopped: output or stopped: memory
for (;;) emit("x".repeat(1000));
