// class: budget-memory | profile: strict mem=64 | must: stopped: memory or RangeError or stopped: time or stopped: cpu or ok: true
return (1e300).toFixed(100).length > 0 && (1n << (1n << 33n)) > 0n;
