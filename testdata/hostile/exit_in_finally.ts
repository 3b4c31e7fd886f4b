// class: isolation | profile: strict time=1500 | must: ok: null
try { process.exit(0); } finally { for (;;); }
