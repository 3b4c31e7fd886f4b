// class: error-rendering | profile: strict time=4000 mem=128 | must: exception or stopped: memory or stopped: output
throw new AggregateError(Array.from({ length: 200_000 }, (_, i) => new Error("e" + i)), "many");
