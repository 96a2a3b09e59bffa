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

  // A cluster that is chosen: maps and the table of objects show it alone.
  let chosen = null;
  const onChoice = [];
  const named = (label) => data.names[label] || label;
  const choices = [...document.querySelectorAll('[data-cluster]')].map((chip) => {
    const button = document.createElement('button');
    button.type = 'button';
    button.className = 'chip';
    button.dataset.cluster = chip.dataset.cluster;
    button.title = 'Show this cluster alone, in maps and in the table of objects';
    button.append(...chip.childNodes);
    chip.replaceWith(button);
    return button;
  });
  const choose = (label) => {
    chosen = label;
    for (const button of choices) button.setAttribute('aria-pressed', String(button.dataset.cluster === chosen));
    for (const then of onChoice) then();
  };
  for (const button of choices) {
    button.setAttribute('aria-pressed', 'false');
    button.addEventListener('click', () => choose(button.dataset.cluster === chosen ? null : button.dataset.cluster));
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
        const fits = texts[at].includes(wanted) && (chosen === null || row.cells[1].dataset.v === chosen);
        row.hidden = !fits;
        if (fits) found += 1;
      });
      const some = wanted || chosen !== null;
      const of = chosen === null ? '' : ' are of cluster ' + named(chosen);
      tell.textContent = (some ? found + ' of ' : '') + rows.length + ' rows' + of;
    };
    search.addEventListener('input', filter);
    onChoice.push(filter);
    filter();
  }

  // Every picture can be saved, as it is shown in the light theme.
  for (const figure of document.querySelectorAll('figure[data-name]')) {
    const button = document.createElement('button');
    button.type = 'button';
    button.className = 'save';
    button.textContent = 'Save as SVG';
    figure.append(button);
    button.addEventListener('click', () => {
      const picture = figure.querySelector('svg').cloneNode(true);
      const style = document.createElementNS(picture.namespaceURI, 'style');
      style.textContent = document.querySelector('style').textContent;
      picture.prepend(style);
      const text = new XMLSerializer().serializeToString(picture);
      const link = document.createElement('a');
      link.href = URL.createObjectURL(new Blob([text], { type: 'image/svg+xml' }));
      link.download = figure.dataset.name + '.svg';
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 1000);
    });
  }

  // Maps: the object under the pointer, or the one that the arrow keys have reached, is named.
  for (const map of document.querySelectorAll('.map')) {
    const points = data.maps[map.dataset.of];
    const svg = map.querySelector('svg');
    const output = map.querySelector('output');
    const ring = svg.querySelector('.ring');
    const tip = map.querySelector('.tip');
    const marks = [...svg.querySelectorAll('use')];
    const fits = (i) => chosen === null || String(data.objects[points[i][2]][1]) === chosen;
    onChoice.push(() => marks.forEach((mark, i) => mark.classList.toggle('dim', !fits(i))));
    let at = -1;
    const show = (next) => {
      at = next;
      tip.hidden = at < 0;
      if (at < 0) { ring.setAttribute('visibility', 'hidden'); return; }
      const [x, y, object] = points[at];
      ring.setAttribute('transform', 'translate(' + x + ' ' + y + ')');
      ring.setAttribute('visibility', 'visible');
      const [name, label, sure] = data.objects[object];
      tip.textContent = output.textContent = name + ': cluster ' + named(label) + ', agreement ' + sure;
      // Beside the object, on the side where there is room.
      const [box, frame] = [svg.getBoundingClientRect(), map.getBoundingClientRect()];
      const unit = box.width / svg.viewBox.baseVal.width;
      const across = box.left - frame.left + x * unit;
      tip.style.top = (box.top - frame.top + y * unit + 12) + 'px';
      tip.style.left = across < frame.width / 2 ? (across + 12) + 'px' : 'auto';
      tip.style.right = across < frame.width / 2 ? 'auto' : (frame.width - across + 12) + 'px';
    };
    svg.addEventListener('pointerleave', () => { tip.hidden = true; });
    svg.addEventListener('pointermove', (event) => {
      const box = svg.getBoundingClientRect();
      const unit = svg.viewBox.baseVal.width / box.width;
      const [x, y] = [(event.clientX - box.left) * unit, (event.clientY - box.top) * unit];
      let best = -1, least = 14 * 14 * unit * unit;
      points.forEach(([px, py], i) => {
        const d = (px - x) ** 2 + (py - y) ** 2;
        if (d < least && fits(i)) { least = d; best = i; }
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
        if (i !== at && fits(i) && along > 0.01 && across <= 2 * along && along + 2 * across < least) { least = along + 2 * across; best = i; }
      });
      if (best >= 0) show(best);
    });
  }
})();
