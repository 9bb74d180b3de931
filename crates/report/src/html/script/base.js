// What a page does by itself: narrow the list of trials, open a trial, and, where there is a server, follow a run.
// All markup comes from Terca; text that an agent wrote is never made into markup here.
//
// These files are parts of one function, in the order that `assets.rs` gives them. `start.js` is the last.

/** @type {(id: string) => any} */
const find = (id) => document.getElementById(id);
/** Returns the elements that a selector finds. @type {(selector: string, within?: ParentNode) => any[]} */
const all = (selector, within = document) => [...within.querySelectorAll(selector)];
/** Returns the element that an event comes from. @type {(event: Event) => any} */
const targetOf = (event) => event.target;
const served = document.body.hasAttribute('data-served');
const overview = find('overview');
const stage = find('stage');
const title = document.title;
