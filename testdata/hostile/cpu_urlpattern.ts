// class: budget-regex | profile: strict time=800 | must: stopped: time or stopped: cpu or TypeError or SyntaxError or ok: false
return new URLPattern({ pathname: "/((?:a+)+)b" }).test("https://x/" + "a".repeat(60) + "!");
