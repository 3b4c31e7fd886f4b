// class: budget-memory | profile: strict mem=64 | must: stopped: memory or RangeError or stopped: time or stopped: cpu or exception or TypeError
return Buffer.alloc(2 ** 33).length;
