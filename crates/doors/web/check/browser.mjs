// Opens the page in Chromium without network, as a person uses it, and counts its requests: `node browser.mjs PAGE BINARY [SCREENSHOTS]`.
import assert from 'node:assert';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

const [file, binary, shots] = process.argv.slice(2).map((path) => resolve(path));
const tools = createRequire(resolve('crates/product/report/browser/package.json'));
const { chromium } = tools('playwright-core');
const axe = readFileSync(tools.resolve('axe-core/axe.min.js'), 'utf8');
const url = pathToFileURL(file).href;
const engine = await chromium.launch({
  executablePath: process.env.PARTITA_CHROMIUM ?? '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'],
});
let requests = 0;
let checks = 0;
const check = (holds, what) => { assert(holds, what); checks += 1; };

async function open(options) {
  const context = await engine.newContext({ viewport: { width: 1200, height: 900 }, offline: true, acceptDownloads: true, ...options });
  const page = await context.newPage();
  page.on('request', (request) => { if (!/^(data|blob):/.test(request.url()) && request.url() !== url && request.url() !== 'about:srcdoc') { requests += 1; console.error(request.url()); } });
  page.on('console', (message) => assert(message.type() !== 'error', `console: ${message.text()}`));
  page.on('pageerror', (error) => assert.fail(`page: ${error.message}`));
  await page.goto(url);
  return page;
}
const shoot = async (page, name) => {
  if (!shots) return;
  mkdirSync(shots, { recursive: true });
  await page.screenshot({ path: join(shots, `${name}.png`), fullPage: true });
};
/** Runs, and gives the files. */
async function run(page) {
  await page.click('#run');
  await page.waitForSelector('#result:not([hidden]), #error:not([hidden])', { timeout: 120000 });
  check(await page.isHidden('#error'), await page.textContent('#error'));
  const files = new Map();
  for (const link of await page.$$('#downloads a')) {
    const [download] = await Promise.all([page.waitForEvent('download'), link.click()]);
    files.set(download.suggestedFilename(), readFileSync(await download.path()));
  }
  return files;
}
const loaded = (page) => page.waitForSelector('#run:not([disabled])', { timeout: 60000 });

// The first example, with its number of clusters to be found.
const page = await open({});
let begun = Date.now();
await page.click('button[value=iris]');
await loaded(page);
check((await page.textContent('#what')).includes('a table to cluster; 150 objects, 4 columns'), await page.textContent('#what'));
check((await page.textContent('#columns')).includes('truth'), 'the column of true classes is not told');
const files = await run(page);
const seconds = (Date.now() - begun) / 1000;
for (const name of ['labels.csv', 'report.html', 'record.json']) check(files.get(name)?.length > 100, `no ${name}`);
const frame = page.frames()[1];
await frame.waitForSelector('h1');
check(await frame.isVisible('#theme'), 'the script of the report does not run in its frame');
await shoot(page, 'iris');

// The command line repeats the record.
const labels = (csv) => csv.toString().split('\n').map((line) => line.split(',', 2).join());
const folder = mkdtempSync(join(tmpdir(), 'partita-page-'));
writeFileSync(join(folder, 'iris.csv'), readFileSync('datasets/iris.csv'));
writeFileSync(join(folder, 'record.json'), files.get('record.json'));
execFileSync(binary, ['run', '--from', 'record.json', '-o', 'again'], { cwd: folder, stdio: 'ignore' });
assert.deepEqual(labels(readFileSync(join(folder, 'again/labels.csv'))), labels(files.get('labels.csv')));

// Labels; a column left out; words of the page in a refusal.
await page.click('button[value=tools]');
await loaded(page);
check((await page.textContent('#what')).includes('labels of clusterings; 12 objects, 4 base clusterings'), await page.textContent('#what'));
await page.selectOption('select[aria-label="Take cola as"]', 'skip');
await loaded(page);
check((await page.textContent('#what')).includes('3 base clusterings'), await page.textContent('#what'));
await page.fill('#clusters', '4');
const found = (await run(page)).get('labels.csv').toString().trim().split('\n');
check(found.length === 13 && new Set(found.slice(1).map((line) => line.split(',')[1])).size === 4, 'not four clusters of twelve cells');
await page.click('summary');
await page.fill('#options', 'skip: nobody');
await page.click('#run');
await page.waitForSelector('#error:not([hidden])');
const refusal = await page.textContent('#error');
check(refusal.includes('nobody') && !/--\w/.test(refusal), refusal);

// Runs of ancestry in several files are one ensemble; what the page does not read is said with what helps.
const given = (name, text) => ({ name, mimeType: 'text/plain', buffer: Buffer.from(text) });
await page.fill('#options', '');
await page.fill('#clusters', '2');
await page.setInputFiles('#files', [given('a.Q', '0.9 0.1\n0.8 0.2\n0.1 0.9\n'), given('b.Q', '0.2 0.8\n0.1 0.9\n0.7 0.3\n')]);
await loaded(page);
check((await run(page)).get('labels.csv').toString().trim().split('\n').length === 4, 'not three objects of two runs');
await page.setInputFiles('#files', [given('table.parquet', 'PAR1')]);
await page.waitForSelector('#error:not([hidden])');
check((await page.textContent('#error')).includes('save the table as CSV') && await page.isDisabled('#run'), await page.textContent('#error'));

// Cancel ends the work at once, and the page goes on.
await page.fill('#options', 'base: kmeans:20000');
await page.fill('#clusters', '');
await page.click('button[value=wine]');
await loaded(page);
await page.click('#run');
await page.waitForSelector('#cancel:not([hidden])');
await page.waitForTimeout(1500);
begun = Date.now();
await page.click('#cancel');
await loaded(page);
const cancelled = Date.now() - begun;
check(cancelled < 1000, `cancelling took ${cancelled} ms`);
await page.fill('#options', '');
await run(page);

// By the keyboard alone, on a phone, in the dark; nothing that an audit finds serious.
const phone = await open({ viewport: { width: 375, height: 740 }, colorScheme: 'dark' });
await phone.focus('button[value=iris]');
await phone.keyboard.press('Enter');
await loaded(phone);
await phone.focus('#run');
await phone.keyboard.press('Enter');
await phone.waitForSelector('#result:not([hidden])', { timeout: 60000 });
const wide = await phone.evaluate(() => document.documentElement.scrollWidth);
check(wide <= 375, `${wide} pixels wide on a phone`);
await shoot(phone, 'phone');
for (const one of [page, phone]) {
  // An audit runs beside the rules of the page, not under them.
  await one.evaluate(() => document.querySelector('#report').remove());
  await one.evaluate(axe);
  const { violations } = await one.evaluate(() => window.axe.run({ resultTypes: ['violations'] }));
  const serious = violations.filter(({ impact }) => ['serious', 'critical'].includes(impact));
  check(serious.length === 0, JSON.stringify(serious.map(({ id, nodes }) => [id, nodes.map((node) => node.html)])));
}
check(requests === 0, `${requests} requests`);
await engine.close();
console.log(`==== ${checks} passed, 0 failed: iris to its report in ${seconds.toFixed(1)} s, cancelled in ${cancelled} ms, ${requests} requests`);
