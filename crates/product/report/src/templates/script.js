(() => {
  'use strict';
  const root = document.documentElement;
  const byId = (id) => document.getElementById(id);
  const data = JSON.parse(byId('data').textContent);

  // Theme: the reader's own until the switch says otherwise; kept with the page, nowhere else.
  const theme = byId('theme');
  const dark = () => (root.dataset.theme || (matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light')) === 'dark';
  const say = () => { theme.textContent = dark() ? 'Light theme' : 'Dark theme'; };
  const kept = history.state && history.state.theme;
  if (kept === 'dark' || kept === 'light') root.dataset.theme = kept;
  theme.hidden = false;
  say();
  theme.addEventListener('click', () => {
    root.dataset.theme = dark() ? 'light' : 'dark';
    try { history.replaceState({ theme: root.dataset.theme }, ''); } catch { /* The page may not keep it. */ }
    say();
  });
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', say);

  // Copy the command.
  for (const button of document.querySelectorAll('.copy')) {
    button.hidden = false;
    button.addEventListener('click', async () => {
      const range = document.createRange();
      range.selectNodeContents(byId(button.dataset.of));
      getSelection().removeAllRanges();
      getSelection().addRange(range);
      try { await navigator.clipboard.writeText(byId(button.dataset.of).textContent); button.textContent = 'Copied'; }
      catch { button.textContent = 'Selected'; }
    });
  }

  // Tables: a button in every heading sorts.
  const value = (row, at) => {
    const cell = row.children[at];
    const plain = cell.dataset.v;
    return plain === undefined ? cell.textContent : plain === '' ? -Infinity : Number(plain);
  };
  const order = (a, b) => typeof a === 'number' && typeof b === 'number' ? (a < b ? -1 : a > b ? 1 : 0)
    : String(a).localeCompare(String(b), undefined, { numeric: true });
  for (const table of document.querySelectorAll('table.sorts')) {
    const heads = [...table.tHead.rows[0].cells];
    heads.forEach((head, at) => {
      const button = document.createElement('button');
      button.type = 'button';
      button.textContent = head.textContent;
      head.replaceChildren(button);
      button.addEventListener('click', () => {
        const down = head.getAttribute('aria-sort') === 'ascending';
        for (const other of heads) other.removeAttribute('aria-sort');
        head.setAttribute('aria-sort', down ? 'descending' : 'ascending');
        const body = table.tBodies[0];
        const rows = [...body.rows].map((row) => [value(row, at), row]);
        rows.sort((a, b) => (down ? -1 : 1) * order(a[0], b[0]));
        body.append(...rows.map((pair) => pair[1]));
      });
    });
  }

  // The table of objects can be searched.
  const search = byId('search');
  if (search) {
    search.closest('.bar').hidden = false;
    const rows = [...byId('objects-table').tBodies[0].rows];
    const texts = rows.map((row) => {
      const whole = row.querySelector('[title]');
      return (row.textContent + ' ' + (whole ? whole.title : '')).toLowerCase();
    });
    const tell = byId('found');
    const filter = () => {
      const wanted = search.value.trim().toLowerCase();
      let found = 0;
      rows.forEach((row, at) => {
        const fits = texts[at].includes(wanted);
        row.hidden = !fits;
        if (fits) found += 1;
      });
      tell.textContent = wanted ? found + ' of ' + rows.length + ' rows' : rows.length + ' rows';
    };
    search.addEventListener('input', filter);
    filter();
  }

  // Maps: the object under the pointer, or the one that the arrow keys have reached, is named.
  for (const map of document.querySelectorAll('.map')) {
    const points = data.maps[map.dataset.of];
    const svg = map.querySelector('svg');
    const output = map.querySelector('output');
    const ring = svg.querySelector('.ring');
    let at = -1;
    const show = (next) => {
      at = next;
      if (at < 0) { ring.setAttribute('visibility', 'hidden'); return; }
      const [x, y, object] = points[at];
      ring.setAttribute('transform', 'translate(' + x + ' ' + y + ')');
      ring.setAttribute('visibility', 'visible');
      const [name, label, sure] = data.objects[object];
      output.textContent = name + ': cluster ' + label + ', agreement ' + sure;
    };
    svg.addEventListener('pointermove', (event) => {
      const box = svg.getBoundingClientRect();
      const unit = svg.viewBox.baseVal.width / box.width;
      const [x, y] = [(event.clientX - box.left) * unit, (event.clientY - box.top) * unit];
      let best = -1, least = 14 * 14 * unit * unit;
      points.forEach(([px, py], i) => {
        const d = (px - x) ** 2 + (py - y) ** 2;
        if (d < least) { least = d; best = i; }
      });
      if (best >= 0) show(best);
    });
    map.addEventListener('keydown', (event) => {
      const step = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
      if (event.key === 'Escape') { show(-1); output.textContent = ''; return; }
      if (!step) return;
      event.preventDefault();
      if (at < 0) { show(0); return; }
      // The nearest object in the direction of the key.
      const [x, y] = points[at];
      let best = -1, least = Infinity;
      points.forEach(([px, py], i) => {
        const [dx, dy] = [px - x, py - y];
        const along = dx * step[0] + dy * step[1];
        const across = Math.abs(dx * step[1]) + Math.abs(dy * step[0]);
        if (i !== at && along > 0.01 && across <= 2 * along && along + 2 * across < least) { least = along + 2 * across; best = i; }
      });
      if (best >= 0) show(best);
    });
  }
})();
