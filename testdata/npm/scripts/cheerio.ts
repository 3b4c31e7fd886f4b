import * as cheerio from "cheerio";

const $ = cheerio.load(`<!doctype html><title>List &amp; more</title>
<ul id=list><li class="a one">One<li class=b data-n='2'>Two <b>bold</b><li>Three</ul>
<table><tr><td>1<td>2<tr><td>3<td>4</table><p>Un<i>closed`);
console.log($("title").text(), $("li").length, $("li.a").text(), $("li[data-n]").data("n"), $("ul > li:nth-child(3)").text(), $("li:contains(Two) b").html());
console.log($("td").map((_, e) => $(e).text()).get(), $("table tr").toArray().map((tr) => $(tr).find("td").length));
$("li.b").addClass("seen").attr("title", "a \"quoted\" <title>").after("<li>New &copy;</li>");
$("#list li").first().remove();
console.log($.html("#list"), $("p").html(), $("li").not(".seen").eq(0).text(), $("b").closest("ul").attr("id"), $("li").last().prev().text());
const xml = cheerio.load("<feed><entry id='1'><title>A</title></entry><entry id='2'/></feed>", { xml: true });
console.log(xml("entry").map((_, e) => xml(e).attr("id")).get(), xml.xml());
console.log(cheerio.load("<div><p>fragment</p></div>", null, false).html(), $.extract?.({ items: ["li"], first: "li" }));
