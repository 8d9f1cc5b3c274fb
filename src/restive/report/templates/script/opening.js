"use strict";
// Draws the curves from the numbers in the page and answers its controls. Names that users chose
// reach the page as text only, never as markup. The files of this folder are one script: this one
// opens a function that the last one closes.
(() => {
const root = document.documentElement;
const data = JSON.parse(document.getElementById("data").textContent);
const state = { show: data.show, centre: "mean", scale: "log", bands: true, runs: false,
                horizon: data.horizon, hidden: new Set(), raised: -1 };
const charts = [];

