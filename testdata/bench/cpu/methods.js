// Classes, inheritance and closures.
class Shape {
  constructor(w) {
    this.w = w;
  }
  area() {
    return this.w * this.w;
  }
  get double() {
    return 2 * this.area();
  }
}
class Circle extends Shape {
  area() {
    return 3 * super.area();
  }
}
function work() {
  const shapes = [];
  for (let i = 0; i < 100; i++) shapes.push(i % 2 ? new Shape(i) : new Circle(i));
  let sum = 0;
  const add = (n) => {
    sum += n;
  };
  for (let round = 0; round < 1500; round++) for (const s of shapes) add(s.double % 10);
  return sum;
}

const start = performance.now();
const sum = work();
console.log(JSON.stringify([sum, performance.now() - start]));
