// Opens reports in a browser without network and drives them: `node check.mjs FILE… [--screenshots DIR]`.
// Fails on console errors, requests, serious accessibility findings, controls that do not do what they say, numbers that wrap and
// texts that clash at 400, 1280 and 2560 pixels, and figures that look other than in pictures/ (`--write` keeps them anew).
import { AsyncLocalStorage } from 'node:async_hooks';
import { accessSync, constants, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, delimiter, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { chromium } from 'playwright-core';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const FLAGS = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
  '--disable-component-update', '--disable-sync'];
const WIDE = { width: 1200, height: 900 };
const PHONE = { width: 375, height: 740 };
// What a page with everything there is takes on paper at most.
const SHEETS = 10;
const WIDTHS = [[400, 800], [1280, 900], [2560, 1440]];

const args = process.argv.slice(2);
const at = args.indexOf('--screenshots');
const shots = at < 0 ? null : resolve(args.splice(at, 2)[1]);
const write = args.includes('--write');
if (write) args.splice(args.indexOf('--write'), 1);
if (args.length === 0) {
  console.error('usage: node check.mjs FILE… [--screenshots DIR] [--write]');
  process.exit(2);
}
if (shots) mkdirSync(shots, { recursive: true });

/** The browser named by PARTITA_CHROMIUM, or the first Chromium of the path. */
function browser() {
  if (process.env.PARTITA_CHROMIUM) return process.env.PARTITA_CHROMIUM;
  const names = ['chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome'];
  const places = (process.env.PATH ?? '').split(delimiter).flatMap((folder) => names.map((name) => join(folder, name)));
  const found = places.find((place) => {
    try { accessSync(place, constants.X_OK); return true; } catch { return false; }
  });
  if (!found) throw new Error('no chromium on the path; install it (Debian: apt-get install chromium) or name it in PARTITA_CHROMIUM');
  return found;
}

const asked = new AsyncLocalStorage();
let failures = 0;
let checks = 0;
function check(holds, what) {
  checks += 1;
  if (holds) return;
  failures += 1;
  console.error(`  FAILED: ${asked.getStore() ?? 'some report'}: ${what}`);
}

/** A page whose requests and errors are counted. */
async function open(engine, file, options) {
  const context = await engine.newContext({ viewport: WIDE, offline: true, ...options });
  const page = await context.newPage();
  const url = pathToFileURL(resolve(file)).href;
  page.on('request', (request) => {
    const fine = request.url() === url || request.url().startsWith('data:');
    if (!fine) check(false, `requested ${request.url()}`);
  });
  page.on('console', (message) => { if (message.type() === 'error') check(false, `console: ${message.text()}`); });
  page.on('pageerror', (error) => check(false, `page: ${error.message}`));
  page.on('dialog', (dialog) => { check(false, `a dialog: ${dialog.message()}`); dialog.dismiss(); });
  await page.goto(url);
  return page;
}

async function shoot(page, name) {
  if (!shots) return;
  await page.screenshot({ path: join(shots, `${name}.png`), fullPage: true });
}

/** Rows of a long table and points of a map are alike, and an audit takes seconds for a thousand of them: it sees the first forty. */
const thin = (page) => page.evaluate(() => {
  document.querySelectorAll('table.long tbody tr:nth-child(n+41), .map svg use:nth-of-type(n+41)').forEach((one) => one.remove());
});

const CONTRAST = 'color-contrast';

/** Rules of an audit: all, the one of colours, all but this one. Another theme changes nothing but colours, another width none of them. */
const RULES = { all: {}, colours: { runOnly: { type: 'rule', values: [CONTRAST] } }, others: { rules: { [CONTRAST]: { enabled: false } } } };

async function accessible(page, what, rules) {
  await page.evaluate(AXE);
  const { violations } = await page.evaluate((rules) => globalThis.axe.run(document, { resultTypes: ['violations'], ...rules }), RULES[rules]);
  const serious = violations.filter((found) => ['serious', 'critical'].includes(found.impact));
  for (const found of serious) {
    const where = found.nodes.slice(0, 3).map((node) => `${node.target.join(' ')} (${node.any[0]?.message ?? node.all[0]?.message ?? ''})`);
    check(false, `${what}: ${found.impact} ${found.id}: ${found.help}: ${where.join('; ')}`);
  }
  const rest = violations.filter((found) => !serious.includes(found));
  for (const found of rest) console.log(`  note, ${asked.getStore()}, ${what}: ${found.impact} ${found.id} × ${found.nodes.length}: ${found.help}`);
  check(serious.length === 0, `${what}: no serious accessibility finding`);
}

const ground = (page) => page.evaluate(() => getComputedStyle(document.body).backgroundColor);

async function theme(page) {
  const button = page.locator('#theme');
  const before = await ground(page);
  await button.click();
  const after = await ground(page);
  check(before !== after, 'the theme switch changes the ground');
  await page.reload();
  check(await ground(page) === after, 'the theme is kept over a reload');
  await button.click();
  check(await ground(page) === before, 'the theme switches back');
}

/** Values of a column of the table of objects, of the rows that are seen. */
const column = (page, index) => page.$$eval('#objects-table tbody tr', (rows, index) => rows
  .filter((row) => row.offsetParent !== null)
  .map((row) => (row.children[index].dataset.v === undefined ? row.children[index].textContent : Number(row.children[index].dataset.v))), index);

async function sort(page) {
  const heads = await page.$$eval('#objects-table thead th', (heads) => heads.map((head) => head.textContent));
  const index = heads.findIndex((head) => head.startsWith('Agreement'));
  const head = page.locator('#objects-table thead th').nth(index);
  await head.locator('button').focus();
  await page.keyboard.press('Enter');
  const up = await column(page, index);
  check(await head.getAttribute('aria-sort') === 'ascending', 'the heading says that it sorts upwards');
  check(up.every((value, i) => i === 0 || up[i - 1] <= value), 'sorted upwards');
  // The page may be told of the click after the driver goes on; on a busy machine a click is lost now and then while the page scrolls.
  for (let clicks = 0; clicks < 3 && await head.getAttribute('aria-sort') !== 'descending'; clicks++) {
    await head.locator('button').click();
    await page.locator('#objects-table th[aria-sort=descending]').waitFor({ timeout: 20000 }).catch(() => {});
  }
  const down = await column(page, index);
  check(await head.getAttribute('aria-sort') === 'descending', 'the heading says that it sorts downwards');
  check(down.length === up.length && down.every((value, i) => i === 0 || down[i - 1] >= value), 'sorted downwards');
}

async function search(page) {
  const names = await column(page, 0);
  const wanted = names[Math.min(2, names.length - 1)].slice(0, 12).trim();
  await page.fill('#search', wanted);
  const found = await column(page, 0);
  check(found.length > 0 && found.length <= names.length, `searching '${wanted}' finds some rows`);
  check((await page.textContent('#found')).includes(`of ${names.length} rows`), 'the number of rows found is said');
  await page.fill('#search', 'no object is called like this');
  check((await column(page, 0)).length === 0, 'searching nonsense finds none');
  await page.fill('#search', '');
  check((await column(page, 0)).length === names.length, 'an empty search shows all rows');
}

/** A click on a cluster shows it alone, another one all again; pictures are saved. */
async function choices(page) {
  const button = page.locator('.groups button[data-cluster]').first();
  if (await button.count() === 0) return;
  const label = await button.getAttribute('data-cluster');
  const shown = () => page.$$eval('#objects-table tbody tr:not([hidden])', (rows) => rows.map((row) => row.cells[1].dataset.v));
  const dim = () => page.$$eval('.map use', (marks) => marks.filter((mark) => Number(getComputedStyle(mark).opacity) < 0.2).length);
  const all = (await shown()).length;
  await button.click();
  const own = await shown();
  check(await button.getAttribute('aria-pressed') === 'true' && own.every((of) => of === label), 'a chosen cluster is shown alone');
  check(await dim() > 0, 'maps show the chosen cluster alone');
  await button.click();
  check((await shown()).length === all && await dim() === 0, 'a second click shows all clusters');
  const saved = page.waitForEvent('download', { timeout: 20000 });
  await page.locator('.save').first().click();
  check((await saved).suggestedFilename().endsWith('.svg'), 'a picture is saved');
}

async function maps(page) {
  const data = JSON.parse(await page.textContent('#data'));
  for (const map of await page.locator('.map').all()) {
    const name = await map.getAttribute('data-of');
    const points = data.maps[name];
    const svg = map.locator('svg');
    await svg.scrollIntoViewIfNeeded();
    const box = await svg.boundingBox();
    const width = await svg.evaluate((svg) => svg.viewBox.baseVal.width);
    const [x, y] = points[points.length - 1];
    await page.mouse.move(box.x + (x * box.width) / width, box.y + (y * box.width) / width);
    const said = await map.locator('output').textContent();
    check(/: cluster .+, agreement/.test(said), `${name}: hovering names an object, said '${said.slice(0, 80)}'`);
    await map.focus();
    const heard = new Set();
    for (const key of ['ArrowRight', 'ArrowRight', 'ArrowDown', 'ArrowLeft', 'ArrowUp', 'ArrowLeft']) {
      await page.keyboard.press(key);
      heard.add(await map.locator('output').textContent());
    }
    check(heard.size > 1, `${name}: arrow keys go from object to object`);
    await page.keyboard.press('Escape');
    check(await map.locator('output').textContent() === '', `${name}: Escape lets go`);
  }
}

async function keyboard(page) {
  await page.evaluate(() => { document.activeElement?.blur(); scrollTo(0, 0); });
  await page.reload();
  await page.keyboard.press('Tab');
  check(await page.evaluate(() => document.activeElement.className) === 'skip', 'the first stop of Tab skips to the summary');
  const controls = await page.locator('button:visible, input:visible, a:visible, summary:visible').count();
  const lost = await page.$$eval('button, input, a', (items) => items.filter((item) => item.tabIndex < 0).length);
  check(controls > 0 && lost === 0, 'every control can be reached by Tab');
}

/** What a reader would see as broken: numbers that wrap, texts of a figure that run into each other or out of it. */
const layout = (page) => page.evaluate(() => {
  const seen = (box) => box.width > 0 && box.height > 0;
  const number = (cell) => !cell.matches('.chip') || /^\s*\d+\s*$/.test(cell.textContent);
  const wrapped = [...document.querySelectorAll('td.r, .tile b, .chip')].filter(number).filter((cell) => {
    const range = document.createRange();
    range.selectNodeContents(cell);
    const boxes = [...range.getClientRects()].filter(seen);
    // Boxes of one line overlap from top to bottom.
    return boxes.some((box) => boxes.some((other) => other.top > box.bottom - 2));
  }).map((cell) => cell.textContent);
  const clashes = [];
  for (const svg of document.querySelectorAll('figure svg.fig')) {
    const name = svg.querySelector('title').textContent;
    const frame = svg.getBoundingClientRect();
    const texts = [...svg.querySelectorAll('text')].map((text) => [text.textContent, text.getBoundingClientRect(), text.hasAttribute('transform')]).filter((text) => seen(text[1]));
    texts.forEach(([text, box, turned], i) => {
      if (box.left < frame.left - 4 || box.right > frame.right + 4 || box.top < frame.top - 4 || box.bottom > frame.bottom + 4) clashes.push(`${name}: '${text}' leaves the figure`);
      for (const [other, its, also] of texts.slice(0, i)) {
        // Boxes around names that lean overlap where the names do not.
        if (turned && also) continue;
        const across = Math.min(box.right, its.right) - Math.max(box.left, its.left);
        const down = Math.min(box.bottom, its.bottom) - Math.max(box.top, its.top);
        if (across > 3 && down > 0.45 * Math.min(box.height, its.height)) clashes.push(`${name}: '${other}' and '${text}'`);
      }
    });
  }
  return { wrapped, clashes };
});

/** Nothing is broken at any width; names that are not meant well may run into each other. */
async function widths(engine, file, name) {
  const page = await open(engine, file, { colorScheme: 'light' });
  for (const [width, height] of WIDTHS) {
    await page.setViewportSize({ width, height });
    check(await overflow(page) <= 0, `nothing is wider than ${width} pixels`);
    const { wrapped, clashes } = await layout(page);
    check(wrapped.length === 0, `${width} pixels: numbers wrap: ${wrapped.slice(0, 5).join(', ')}`);
    if (name !== 'hostile') check(clashes.length === 0, `${width} pixels: texts clash: ${clashes.slice(0, 5).join('; ')}`);
    await shoot(page, `${name}-${width}`);
  }
  await page.context().close();
}

/** Mean colours of a picture in 16 × 16 cells: fonts differ between machines, and hardly change them. */
async function cells(blank, png) {
  return blank.evaluate(async (data) => {
    const image = new Image();
    image.src = data;
    await image.decode();
    const canvas = document.createElement('canvas');
    [canvas.width, canvas.height] = [image.width, image.height];
    const context = canvas.getContext('2d');
    context.drawImage(image, 0, 0);
    const { data: pixels } = context.getImageData(0, 0, image.width, image.height);
    const sums = new Float64Array(16 * 16 * 4);
    for (let y = 0; y < image.height; y += 1) {
      for (let x = 0; x < image.width; x += 1) {
        const cell = 4 * (16 * Math.floor((16 * y) / image.height) + Math.floor((16 * x) / image.width));
        const at = 4 * (y * image.width + x);
        for (let c = 0; c < 3; c += 1) sums[cell + c] += pixels[at + c];
        sums[cell + 3] += 1;
      }
    }
    const means = [];
    for (let cell = 0; cell < 256; cell += 1) for (let c = 0; c < 3; c += 1) means.push(Math.round(sums[4 * cell + c] / sums[4 * cell + 3]));
    return means;
  }, `data:image/png;base64,${png.toString('base64')}`);
}

/** Every figure of a page against what it looked like: `--write` keeps how it looks now. */
async function pictures(engine, file, name) {
  const place = new URL(`pictures/${name}.json`, import.meta.url);
  if (!write && !existsSync(place)) return;
  const page = await open(engine, file, { colorScheme: 'light', viewport: { width: 1280, height: 900 } });
  // Nothing hangs over a picture while it is taken. The page's policy refuses a style element from outside, but no sheet of a script that is already trusted.
  await page.evaluate(() => {
    const sheet = new CSSStyleSheet();
    sheet.replaceSync('nav{position:static!important}');
    document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
  });
  const blank = await engine.newPage();
  const found = {};
  for (const svg of await page.locator('figure svg.fig').all()) {
    found[await svg.locator('title').first().textContent()] = await cells(blank, await svg.screenshot());
  }
  await page.context().close();
  await blank.close();
  if (write) {
    const packed = Object.entries(found).map(([title, means]) => [title, Buffer.from(means).toString('base64')]);
    writeFileSync(place, `${JSON.stringify(Object.fromEntries(packed), null, 1)}\n`);
    return;
  }
  const kept = JSON.parse(readFileSync(place, 'utf8'));
  check(Object.keys(kept).sort().join() === Object.keys(found).sort().join(), `the figures are ${Object.keys(kept).join(', ')}`);
  for (const [title, means] of Object.entries(found)) {
    const before = kept[title] ? [...Buffer.from(kept[title], 'base64')] : [];
    const apart = means.map((mean, i) => Math.abs(mean - (before[i] ?? 255)));
    const [mean, most] = [apart.reduce((sum, x) => sum + x, 0) / apart.length, Math.max(...apart)];
    check(mean <= 4 && most <= 60, `${title} looks as it did (colours differ by ${mean.toFixed(1)} on average, ${most} at most)`);
  }
}

const overflow = (page) => page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);

const engine = await chromium.launch({ executablePath: browser(), args: FLAGS });

/** Everything that is asked of one report. */
async function report(file, name) {
  const light = await open(engine, file, { colorScheme: 'light' });
  await shoot(light, `${name}-light`);
  await theme(light);
  await sort(light);
  await search(light);
  await choices(light);
  await maps(light);
  await keyboard(light);
  await thin(light);
  await accessible(light, 'light', 'all');
  await light.context().close();

  const print = await open(engine, file, { colorScheme: 'light' });
  await print.emulateMedia({ media: 'print' });
  if (shots) await shoot(print, `${name}-print`);
  const sheets = (await print.pdf({ format: 'A4' })).toString('latin1').match(/\/Type \/Page\b(?!s)/g).length;
  check(sheets <= SHEETS, `${name}: ${sheets} sheets of paper`);
  await print.context().close();

  const dark = await open(engine, file, { colorScheme: 'dark' });
  await shoot(dark, `${name}-dark`);
  await thin(dark);
  await accessible(dark, 'dark', 'colours');
  await dark.context().close();

  const phone = await open(engine, file, { colorScheme: 'light', viewport: PHONE, hasTouch: true, isMobile: true });
  await shoot(phone, `${name}-phone`);
  check(await overflow(phone) <= 0, 'nothing is wider than a phone');
  await thin(phone);
  await accessible(phone, 'phone', 'others');
  await phone.context().close();

  await widths(engine, file, name);
  await pictures(engine, file, name);

  const plain = await open(engine, file, { javaScriptEnabled: false });
  check(await plain.locator('h1').isVisible() && !(await plain.locator('#theme').isVisible()), 'it reads without its script');
  await plain.context().close();
  console.log(`seen: ${name}`);
}

// Two at a time: each keeps one core busy.
const left = [...args];
await Promise.all([0, 1].map(async () => {
  while (left.length > 0) {
    const file = left.shift();
    const name = basename(file, '.html');
    await asked.run(name, () => report(file, name));
  }
}));
await engine.close();
console.log(`${checks} checks, ${failures} failures`);
process.exit(failures > 0 ? 1 : 0);
