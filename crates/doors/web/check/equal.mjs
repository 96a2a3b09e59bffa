// Runs the program of the page in Node and the command line on the same files, and compares: `node equal.mjs PAGE BINARY`.
// Labels, and all words and whole numbers of records, must be the same; other numbers to nine digits, since logarithms and powers are those of
// the system's C library there and of the program itself here, and linear algebra rounds otherwise. How many files have the same bytes is counted.
import assert from 'node:assert';
import { execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { gzipSync, inflateRawSync } from 'node:zlib';

const [page, binary] = process.argv.slice(2).map((path) => resolve(path));
const text = readFileSync(page, 'utf8');
const part = (id) => text.match(new RegExp(`id="${id}">([^]*?)</script>`))[1];
const code = inflateRawSync(Buffer.from(part('code'), 'base64'));
const start = new Function(`${part('worker').replace(/^onmessage = [^]*/m, '')}; return start`)();

const folder = join(dirname(page), 'check');
rmSync(folder, { recursive: true, force: true });
mkdirSync(folder);
for (const name of ['iris', 'wine', 'wdbc']) copyFileSync(`datasets/${name}.csv`, join(folder, `${name}.csv`));
const partita = (...words) => execFileSync(binary, words, { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'], encoding: 'utf8' });
const read = (name) => readFileSync(join(folder, name));
const write = (name, content) => writeFileSync(join(folder, name), content);

// Labels, of tables that are here, in the forms that people have.
partita('generate', 'iris.csv', '--base', 'kmeans:12', '--base-k', '2..6', '-o', 'labels.csv');
partita('generate', 'wine.csv', '--base', 'kmeans:10', '--base-k', '2..7', '--subsample', '1', '--scale', 'zscore', '-o', 'labels.npz');
write('labels.tsv', read('labels.csv').toString().replaceAll(',', '\t'));
write('labels.csv.gz', gzipSync(read('labels.csv')));
const rows = read('labels.csv').toString().trim().split('\n').map((line) => line.split(','));
const columns = (from, to) => rows.map((row, at) => [at === 0 ? 'object' : `f${at}`, ...row.slice(from, to)].join(',')).join('\n');
write('first.csv', columns(1, 5));
write('second.csv', columns(5, 9));
write('gaps.csv', read('labels.csv').toString().replace(/,2\n/g, ',NA\n'));
write('wine.tsv', read('wine.csv').toString().replaceAll(',', '\t'));
write('words.csv', read('iris.csv').toString().replace(/label/, 'flower').split('\n').map((line, at) => line && (at ? `${line},${at % 3 ? 'dry' : 'wet'}` : `${line},soil`)).join('\n'));
for (const [run, flip] of [['a.Q', 0], ['b.Q', 1]]) {
  write(run, rows.slice(1).map((row, at) => { const share = ((at * 7 + Number(row[1] || 0) * 31) % 97) / 97; return (flip ? [1 - share, share] : [share, 1 - share]).map((x) => x.toFixed(4)).join(' '); }).join('\n') + '\n');
}

/** What a record says of results, without times. */
function results(record) {
  const timed = new Set(['seconds', 'cpu_seconds', 'peak_bytes', 'phases']);
  const kept = Object.fromEntries(['methods', 'choice', 'auto', 'base_made', 'base_scores'].map((name) => [name, record[name]]));
  return JSON.parse(JSON.stringify(kept, (name, value) => timed.has(name) ? undefined : value));
}

/** Whether numbers, or texts with numbers in them, are the same to nine digits. */
const near = (a, b) => a === b || Math.abs(a - b) <= 1e-9 * Math.max(1, Math.abs(a), Math.abs(b));
function same(a, b, where) {
  if (typeof a === 'number' && typeof b === 'number') assert(near(a, b), `${where}: ${a}, not ${b}`);
  else if (a && b && typeof a === 'object') {
    assert.deepEqual(Object.keys(a), Object.keys(b), where);
    for (const name of Object.keys(a)) same(a[name], b[name], `${where}.${name}`);
  } else assert.equal(a, b, where);
}
const cells = (csv) => csv?.trim().split('\n').map((line) => line.split(',').map((cell, at) => at > 0 && /\./.test(cell) ? Number(cell) : cell));

const bytes = { same: 0, near: 0 };
let seconds = [0, 0];
async function compare(files, request, words) {
  const own = new Map();
  let answer;
  let now = performance.now();
  const engine = await start(code, (message, content) => {
    if (message.is === 'file') own.set(message.name, Buffer.from(content));
    if (message.is === 'error') answer = message;
    if (message.is === 'answer') answer = message;
  });
  for (const file of files) engine.put(file, read(file));
  engine.ask({ do: 'run', files, ...request });
  seconds[0] += (performance.now() - now) / 1000;
  now = performance.now();
  let said = null;
  rmSync(join(folder, 'out'), { recursive: true, force: true });
  try { partita(...words, '-o', 'out/', '--threads', '1'); } catch (error) { said = error.stderr; }
  seconds[1] += (performance.now() - now) / 1000;
  const called = words.join(' ');
  assert.equal(answer.is === 'error' ? answer.text : null, said === null ? null : answer.text ?? said, `${called}: ${answer.text ?? said}`);
  if (said !== null) return 'refused';
  for (const name of ['labels.csv', 'soft.csv']) {
    const theirs = existsSync(join(folder, 'out', name)) ? read(join('out', name)).toString() : undefined;
    same(cells(own.get(name)?.toString()), cells(theirs), `${called}: ${name}`);
    if (theirs) bytes[own.get(name).toString() === theirs ? 'same' : 'near'] += 1;
  }
  same(results(JSON.parse(own.get('record.json'))), results(JSON.parse(read('out/record.json'))), `${called}: record.json`);
  return 'same';
}

const ran = { same: 0, refused: 0 };
const methods = new Set();
async function labels(files, method, clusters, settings = []) {
  const words = ['consensus', ...files, '-m', method, '-k', clusters, '--seed', '3', ...settings.flatMap((one) => ['--set', one])];
  const verdict = await compare(files, { labels: true, method, clusters, settings, seed: 3 }, words);
  ran[verdict] += 1;
  if (verdict === 'same') methods.add(method);
}
async function table(file, request, words) {
  ran[await compare([file], { labels: false, ...request }, ['run', file, ...words])] += 1;
}

// The command line has more methods: those of METIS, which its choice among methods tries too.
let listed;
(await start(code, (message) => { listed = message; })).ask({ do: 'methods' });
for (const { name, settings } of listed.value) {
  const among = settings.find((setting) => setting.name === 'among');
  await labels(['labels.csv'], name, '3', among ? [`among=${among.default}`] : []);
}
for (const files of [['labels.npz'], ['labels.tsv'], ['labels.csv.gz'], ['first.csv', 'second.csv'], ['gaps.csv'], ['a.Q', 'b.Q']]) {
  for (const method of ['lwgp', 'eac-average', 'mm']) await labels(files, method, '2');
}
await labels(['labels.csv'], 'eac-average', 'auto');
await labels(['labels.npz'], 'eac-average', 'method');
await table('iris.csv', {}, []);
await table('iris.csv', { clusters: '3' }, ['-k', '3']);
await table('wine.tsv', { clusters: '2..6' }, ['-k', '2..6']);
await table('words.csv', { clusters: '3', options: { truth: 'flower' } }, ['-k', '3', '--truth', 'flower']);
await table('wdbc.csv', { clusters: '2', method: 'pcc-kl', options: { base: 'kmeans:20', base_k: '4..12', scale: 'zscore' } },
  ['-k', '2', '-m', 'pcc-kl', '--base', 'kmeans:20', '--base-k', '4..12', '--scale', 'zscore']);
assert(methods.size >= 20, `only ${methods.size} methods were compared`);
console.log(`==== ${ran.same} passed, 0 failed: same labels by ${methods.size} methods; both refuse ${ran.refused}; ` +
  `${bytes.same} of ${bytes.same + bytes.near} files have the same bytes; ` +
  `${seconds[0].toFixed(1)} s in Node, ${seconds[1].toFixed(1)} s by the command line`);
