// The same commands by the program of the page in Node and by builds of the command line: `node equal.mjs PAGE PROGRAM…`, each a line such
// as `partita` or `aarch64=qemu-aarch64 partita`. Labels, and all words and whole numbers of records, must be the same; other numbers to nine digits.
// A line for each says the hash of its labels and of all it wrote, and how many commands gave the bytes of the first program.
import assert from 'node:assert';
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { gzipSync, inflateRawSync } from 'node:zlib';

const page = resolve(process.argv[2]);
const named = process.argv.slice(3).map((line) => line.split('='));
const programs = named.map((parts) => parts.at(-1).split(' '));
const text = readFileSync(page, 'utf8');
const part = (id) => text.match(new RegExp(`id="${id}">([^]*?)</script>`))[1];
const bytesOf = new Function(`${text.match(/^function bytesOf[^]*?^}/m)[0]}; return bytesOf`)();
const code = inflateRawSync(bytesOf(part('code')));
const start = new Function(`${part('worker').replace(/^onmessage = [^]*/m, '')}; return start`)();

const folder = join(dirname(page), 'check');
rmSync(folder, { recursive: true, force: true });
mkdirSync(folder);
for (const name of ['iris', 'wine', 'wdbc', 'digits']) copyFileSync(`datasets/${name}.csv`, join(folder, `${name}.csv`));
const call = ([program, ...first], words) => execFileSync(program, [...first, ...words], { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'], encoding: 'utf8' });
const read = (name) => readFileSync(join(folder, name));
const write = (name, content) => writeFileSync(join(folder, name), content);

// Labels, of tables that are here, in the forms that people have.
const partita = (line) => call(programs[0], line.split(' '));
partita('generate iris.csv --base kmeans:12 --base-k 2..6 -o labels.csv');
partita('generate wine.csv --base kmeans:10 --base-k 2..7 --subsample 1 --scale zscore -o labels.npz');
write('labels.tsv', read('labels.csv').toString().replaceAll(',', '\t'));
write('labels.csv.gz', gzipSync(read('labels.csv')));
const rows = read('labels.csv').toString().trim().split('\n').map((line) => line.split(','));
const columns = (from, to) => rows.map((row, at) => [at === 0 ? 'object' : `f${at}`, ...row.slice(from, to)].join(',')).join('\n');
write('first.csv', columns(1, 5));
write('second.csv', columns(5, 9));
write('gaps.csv', read('labels.csv').toString().replace(/,2\n/g, ',NA\n'));
write('wine.tsv', read('wine.csv').toString().replaceAll(',', '\t'));
write('words.csv', read('iris.csv').toString().replace(/label/, 'flower').split('\n').map((line, at) => line && (at ? `${line},${at % 3 ? 'dry' : 'wet'}` : `${line},soil`)).join('\n'));
write('comma.csv', read('iris.csv').toString().replaceAll(',', ';').replaceAll('.', ','));
for (const [run, flip] of [['a.Q', 0], ['b.Q', 1]]) {
  write(run, rows.slice(1).map((row, at) => { const share = ((at * 7 + Number(row[1] || 0) * 31) % 97) / 97; return (flip ? [1 - share, share] : [share, 1 - share]).map((x) => x.toFixed(4)).join(' '); }).join('\n') + '\n');
}

/** What the page asks for where a command line says this. */
function request([does, ...words]) {
  const asked = { do: 'run', labels: does === 'consensus', files: [], settings: [], options: {} };
  const names = { '-k': 'clusters', '-m': 'method', '--seed': 'seed' };
  while (words.length > 0) {
    const word = words.shift();
    if (!word.startsWith('-')) asked.files.push(word);
    else if (word === '--set') asked.settings.push(words.shift());
    else if (word === '--seed') asked.seed = Number(words.shift());
    else if (names[word]) asked[names[word]] = words.shift();
    else asked.options[word.slice(2).replaceAll('-', '_')] = words.shift();
  }
  return asked;
}

/** The files that the page gives, or what it refuses. */
async function byPage(words) {
  const made = {};
  const engine = await start(code, (message, content) => {
    if (message.is === 'file') made[message.name] = Buffer.from(content).toString();
    if (message.is === 'error') made.refused = message.text;
  });
  const asked = request(words);
  for (const file of asked.files) engine.put(file, read(file));
  engine.ask(asked);
  return made;
}
async function byProgram(program, words) {
  rmSync(join(folder, 'out'), { recursive: true, force: true });
  try {
    call(program, [...words, '-o', 'out/', '--threads', '1']);
  } catch (error) {
    return { refused: error.stderr };
  }
  const written = ['labels.csv', 'soft.csv', 'record.json'].filter((name) => existsSync(join(folder, 'out', name)));
  return Object.fromEntries(written.map((name) => [name, read(join('out', name)).toString()]));
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
const cells = (csv) => csv?.trim().split('\n').map((line) => line.split(',').map((cell, at) => at > 0 && cell !== '' && !isNaN(cell) ? Number(cell) : cell));

// The command line has more methods: those of METIS, which its choice among methods tries too.
let listed;
(await start(code, (message) => { listed = message; })).ask({ do: 'methods' });
const methods = listed.value.map(({ name, settings }) => {
  const among = settings.find((setting) => setting.name === 'among');
  return `consensus labels.csv -k 3 -m ${name}${among ? ` --set among=${among.default}` : ''} --seed 3`;
});
assert(methods.length >= 20, `only ${methods.length} methods`);
// Those of the guide, on the files above.
const guide = `
consensus labels.npz -k 3
consensus labels.npz -k 3 -m lwgp --set theta=0.4
consensus labels.npz -k 3 -m eac-average
consensus labels.npz -k method -m eac-average
consensus labels.npz -k 3 -m pcc-kl
consensus labels.npz -k 3 -m mm --seed 2
consensus labels.tsv -k 2 -m mm
consensus labels.csv.gz -k 2 -m lwgp
consensus labels.csv -k auto
consensus labels.npz -k 2
consensus labels.csv -k 3 -m kc --set restarts=3
consensus labels.csv -k auto -m eac-average
consensus first.csv second.csv -k 2
consensus first.csv second.csv -k 2 -m eac-average
consensus gaps.csv -k 3 -m pcc-kl
consensus gaps.csv -k 3 -m mm --seed 1
consensus gaps.csv -k 4 -m nbce-vb
consensus gaps.csv -k 2 -m lwgp --missing NA
consensus a.Q b.Q -k 2
consensus a.Q b.Q -k 2 -m soft-mean
consensus a.Q b.Q -k 2 -m mm
run iris.csv --truth label
run iris.csv --truth label -k 3 --base kmeans:50
run iris.csv --truth label -k 3 --describe sepal_length
run iris.csv -k 3 -m pcc-kl --base kmeans:30
run comma.csv -k 3
run words.csv -k 3 --truth flower
run words.csv
run wine.tsv -k 2..6
run wine.csv --truth label -k 3 --base kmeans:50 --scale zscore
run wine.csv --truth label -k 3 --base ward:1
run wdbc.csv --truth label -k 2 --scale zscore --base kmeans:30
run wdbc.csv -k 2 -m pcc-kl --base kmeans:20 --base-k 4..12 --scale zscore
run digits.csv --truth label -k 10
run digits.csv --truth label -k 10 -m eac-average
`.trim().split('\n');

const places = ['WebAssembly in Node', ...named.map(([name, line]) => line ? name : 'command line')];
const counts = places.map(() => ({ labels: createHash('sha256'), all: createHash('sha256'), bytes: 0, seconds: 0 }));
let refused = 0;
for (const line of [...methods, ...guide]) {
  const made = [];
  for (const at of places.keys()) {
    const begun = performance.now();
    made.push(at === 0 ? await byPage(line.split(' ')) : await byProgram(programs[at - 1], line.split(' ')));
    counts[at].seconds += (performance.now() - begun) / 1000;
  }
  const first = made[1];
  refused += first.refused ? 1 : 0;
  for (const [at, own] of made.entries()) {
    const where = `${places[at]}: ${line}`;
    assert.equal(!own.refused, !first.refused, `${where}: ${own.refused ?? first.refused}`);
    if (first.refused) continue;
    const files = [own, first].map((of) => [of['labels.csv'], of['soft.csv'], JSON.stringify(results(JSON.parse(of['record.json'])))]);
    for (const one of [0, 1]) same(cells(files[0][one]), cells(files[1][one]), where);
    same(JSON.parse(files[0][2]), JSON.parse(files[1][2]), where);
    counts[at].labels.update(cells(files[0][0]).map((row) => row.slice(0, 2).join()).join('\n'));
    counts[at].all.update(files[0].join());
    const equal = files[0].join() === files[1].join();
    counts[at].bytes += equal ? 1 : 0;
    if (!equal && process.env.PARTITA_VERBOSE) console.log(where);
  }
}
const all = methods.length + guide.length;
console.log(`| where | labels | all bytes | commands of ${all - refused} with the bytes of the command line | s |\n|---|---|---|---:|---:|`);
for (const [at, { labels, all, bytes, seconds }] of counts.entries()) {
  console.log(`| ${places[at]} | \`${labels.digest('hex').slice(0, 16)}\` | \`${all.digest('hex').slice(0, 16)}\` | ${bytes} | ${seconds.toFixed(1)} |`);
}
console.log(`==== ${all - refused} passed, 0 failed: ${places.length} programs give the same labels and numbers; all refuse ${refused} alike`);
