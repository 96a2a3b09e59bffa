'use strict';
const $ = (id) => document.getElementById(id);
const samples = JSON.parse($('samples').textContent);
const script = URL.createObjectURL(new Blob([$('worker').textContent], { type: 'text/javascript' }));
const code = unpacked($('code').textContent);
let files = [];
let worker = null;
let links = [];

/** The bytes of a text that has five letters for four of them, and a letter more for each byte at its end that is none of them. */
function bytesOf(text) {
  const size = Math.floor(text.length / 5);
  const words = new DataView(new ArrayBuffer(4 * size));
  for (let word = 0; word < size; word += 1) {
    let number = 0;
    for (let at = 5 * word; at < 5 * word + 5; at += 1) number = 85 * number + (text[at] === 'x' ? 60 : text.charCodeAt(at)) - 35;
    words.setUint32(4 * word, number);
  }
  return new Uint8Array(words.buffer, 0, 4 * size - text.length % 5);
}

/** The program, of which the page has a packed text. */
async function unpacked(text) {
  const stream = new Blob([bytesOf(text)]).stream().pipeThrough(new DecompressionStream('deflate-raw'));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** Asks a new worker, and ends the one before. Gives the answer and the files of the results. */
async function ask(request, hear) {
  worker?.terminate();
  const mine = new Worker(script);
  worker = mine;
  $('run').disabled = true;
  const ready = await code;
  return new Promise((done, failed) => {
    const results = new Map();
    mine.onerror = (event) => failed(new Error(event.message));
    mine.onmessage = ({ data: { message, content } }) => {
      if (worker !== mine) return;
      if (message.is === 'answer') done({ value: message.value, results });
      else if (message.is === 'error') failed(new Error(message.text));
      else if (message.is === 'file') results.set(message.name, content);
      else hear(message);
    };
    mine.postMessage({ code: ready, files, request });
  }).finally(() => { if (worker === mine) cancel(); });
}

function cancel() {
  worker?.terminate();
  worker = null;
  $('progress').hidden = $('cancel').hidden = true;
  $('run').disabled = files.length === 0;
}

function make(tag, text, attributes = {}) {
  return Object.assign(document.createElement(tag), { textContent: text, ...attributes });
}

/** What stands in lines `name: value`. */
function lines(id) {
  const pairs = $(id).value.split('\n').map((line) => line.split(/[:=](.*)/s)).filter((pair) => pair.length > 1);
  return Object.fromEntries(pairs.map(([name, value]) => [name.trim().replaceAll('-', '_'), value.trim()]));
}

/** How the files are read: what the switches of the columns say, then what is written. */
function reading() {
  const options = {};
  for (const choice of $('columns').querySelectorAll('select')) {
    const name = choice.dataset.column;
    if (['skip', 'describe'].includes(choice.value)) (options[choice.value] ??= []).push(name);
    else if (choice.value) options[choice.value] = choice.value === 'truth' && choice.dataset.truth ? false : name;
  }
  const kind = document.querySelector('[name=kind]:checked').value;
  return { files: files.map((file) => file.name), labels: kind ? kind === 'true' : null, options: { ...options, ...lines('options') } };
}

function tell(message) {
  if (message.is !== 'progress') {
    $('notes').append(make('li', message.text, { className: message.is }));
    return;
  }
  $('doing').textContent = message.what;
  const bar = $('progress').querySelector('progress');
  if (message.total > 0) Object.assign(bar, { max: message.total, value: message.done });
  else bar.removeAttribute('value');
}

function begin() {
  $('notes').replaceChildren();
  $('error').hidden = $('result').hidden = true;
}

function fail(error) {
  $('error').textContent = error.message;
  $('error').hidden = false;
}

const KINDS = { table: 'a table to cluster', 'sparse table': 'a table to cluster', ensemble: 'labels of clusterings', 'ensemble or table': 'taken for a table to cluster; if its numbers are labels of clusterings, say so below' };
/** What the page does not read, and what helps. */
const UNREAD = /\.(parquet|pq|arrow|feather|ipc|xlsx|xls|ods|zst)$/i;

const many = (count, what) => count ? `${count} ${what}${count === 1 ? '' : 's'}` : '';

/** The columns of a file that are clustered on; words have several in the table that becomes of it. */
function dataOf({ kind, columns, file_columns: all }) {
  return kind === 'table' && all ? all.filter((column) => column.taken_as.startsWith('data')).length : columns;
}

/** Looks at the files, and shows what each column is taken for. */
async function look(keep) {
  begin();
  $('about').hidden = false;
  $('what').textContent = 'Reading …';
  try {
    const { value } = await ask({ do: 'inspect', ...reading() }, tell);
    const sizes = value.map((facts) => [many(facts.objects, 'object'), many(dataOf(facts), 'column'), many(facts.base_clusterings, 'base clustering')].filter(Boolean).join(', '));
    $('what').textContent = value.map((facts, at) => `${files[at].name}: ${KINDS[facts.kind] ?? facts.kind}; ${sizes[at]}`).join('. ');
    if (value[0].refused) fail(new Error(value[0].refused));
    const columns = value.length === 1 ? value[0].file_columns ?? [] : [];
    const called = columns.filter((column) => column.taken_as.startsWith('left out (labels of a clustering'));
    if (called.length > 1) tell({ is: 'warning', text: `${called.length} columns are called as clusterings; to find the one they agree on, take the file for labels of clusterings` });
    if (!keep) show(columns);
  } catch (error) {
    $('what').textContent = files.map((file) => file.name).join(', ');
    fail(error);
  }
}

function show(columns) {
  const choices = [['', 'as it says'], ['skip', 'left out'], ['describe', 'described, not clustered on'], ['id', 'names of the objects'], ['truth', 'true classes']];
  const rows = columns.map((column) => {
    const row = make('tr', '');
    row.append(make('th', column.name, { scope: 'row' }), make('td', column.values), make('td', column.taken_as));
    const choice = make('select', '', { ariaLabel: `Take ${column.name} as` });
    choice.dataset.column = column.name;
    for (const [value, text] of choices) choice.append(make('option', text, { value }));
    if (column.taken_as.startsWith('truth')) {
      choice.dataset.truth = 'yes';
      choice.lastChild.textContent = 'data';
    }
    choice.onchange = () => look(true);
    const cell = make('td', '');
    cell.append(choice);
    row.append(cell);
    return row;
  });
  $('columns').tBodies[0].replaceChildren(...rows);
  $('columns').hidden = rows.length === 0;
}

async function take(list) {
  $('run').disabled = true;
  files = await Promise.all(Array.from(list, async (file) => ({ name: file.name.replaceAll('/', '_'), content: new Uint8Array(await file.arrayBuffer()) })));
  document.querySelector('[name=kind]').checked = true;
  $('columns').tBodies[0].replaceChildren();
  const unread = files.find((file) => UNREAD.test(file.name));
  if (unread) {
    begin();
    fail(new Error(`${unread.name}: this page does not read such files; save the table as CSV, or use the command line, which does`));
    files = [];
    $('about').hidden = true;
  } else if (files.length > 0) await look(false);
}

async function run() {
  begin();
  $('progress').hidden = $('cancel').hidden = false;
  $('cancel').focus();
  tell({ is: 'progress', what: 'starting', done: 0, total: 0 });
  const asked = { ...reading(), clusters: $('clusters').value.trim() || null, method: $('method').value || null,
    settings: Object.entries(lines('settings')).map((pair) => pair.join('=')), seed: Number($('seed').value) };
  try {
    const { value, results } = await ask({ do: 'run', ...asked }, tell);
    $('summary').textContent = value.summary;
    $('report').srcdoc = new TextDecoder().decode(results.get('report.html'));
    links.forEach((link) => URL.revokeObjectURL(link.href));
    links = [...results].filter(([name]) => name !== 'summary.txt').map(([name, content]) => make('a', name, { download: name, href: URL.createObjectURL(new Blob([content])) }));
    $('downloads').replaceChildren('Download: ', ...links);
    $('result').hidden = false;
    $('result-h').focus();
  } catch (error) {
    fail(error);
  }
}

async function listMethods() {
  const { value } = await ask({ do: 'methods' }, tell);
  $('method').append(...value.map((method) => make('option', method.name, { value: method.name })));
  $('method').onchange = () => {
    const method = value.find(({ name }) => name === $('method').value);
    const settings = method?.settings.map(({ name, default: usual }) => `${name}: ${JSON.stringify(usual)}`) ?? [];
    $('method-help').textContent = method ? `${method.summary ?? ''} Settings: ${settings.join(', ') || 'none'}.` : '';
  };
}

$('files').onchange = () => take($('files').files);
$('examples').onclick = ({ target: { value } }) => { if (value) take([new File([samples[value].text], samples[value].name)]); };
$('run').onclick = run;
$('cancel').onclick = () => { cancel(); $('run').focus(); };
for (const kind of document.querySelectorAll('[name=kind]')) kind.onchange = () => look(false);
const drop = $('drop');
drop.ondragover = (event) => { event.preventDefault(); drop.classList.add('over'); };
drop.ondragleave = () => drop.classList.remove('over');
drop.ondrop = (event) => { event.preventDefault(); drop.classList.remove('over'); take(event.dataTransfer.files); };
listMethods().catch(fail);
