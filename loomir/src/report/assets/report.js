'use strict';
// The page is whole without this script. It adds keys, the search, and the lighting of loops.
(() => {
  const all = selector => [...document.querySelectorAll(selector)];
  const decisions = all('.decision');
  const search = document.getElementById('search');
  const found = document.getElementById('found');
  const remarks = JSON.parse(document.getElementById('remarks').textContent);
  const number = link => Number(link.hash.slice(2));
  const isShown = link => !link.parentElement.hidden;

  // Marks the decision that the address names, and opens what hides its target.
  const select = () => {
    const id = location.hash.slice(1);
    const target = id && document.getElementById(id);
    all('.card.selected').forEach(card => card.classList.remove('selected'));
    decisions.forEach(link => link.removeAttribute('aria-current'));
    if (!target) return;
    for (let around = target.parentElement; around; around = around.parentElement) {
      if (around.tagName === 'DETAILS') around.open = true;
    }
    if (!target.classList.contains('card')) return;
    target.classList.add('selected');
    const link = decisions.find(link => link.hash === location.hash);
    if (link) {
      link.setAttribute('aria-current', 'true');
      link.scrollIntoView({ block: 'nearest' });
    }
    light(target.dataset.loops);
  };

  // Lights everything about these loops in the function of the selected card.
  const light = loops => {
    all('.tree .lit').forEach(own => own.classList.remove('lit'));
    if (!loops) return;
    const card = document.querySelector('.card.selected');
    const section = card && card.closest('.function');
    if (!section) return;
    const wanted = loops.split(' ');
    section.querySelectorAll('.tree [data-loops]').forEach(own => {
      if (own.dataset.loops.split(' ').some(loop => wanted.includes(loop))) own.classList.add('lit');
    });
  };

  const step = by => {
    const shown = decisions.filter(isShown);
    if (shown.length === 0) return;
    const at = shown.findIndex(link => link.hasAttribute('aria-current'));
    const next = at < 0 ? (by > 0 ? 0 : shown.length - 1) : Math.min(Math.max(at + by, 0), shown.length - 1);
    location.hash = shown[next].hash;
    const card = document.getElementById(shown[next].hash.slice(1));
    if (card) card.focus({ preventScroll: true });
  };

  const text = remark => [remark.message, remark.name, remark.pass, remark.function, remark.line,
    ...remark.notes.map(note => note.message)].join(' ').toLowerCase();
  const filter = () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(word => word);
    let count = 0;
    decisions.forEach(link => {
      const own = text(remarks[number(link)]);
      const fits = words.every(word => own.includes(word));
      link.parentElement.hidden = !fits;
      count += fits;
    });
    found.textContent = words.length ? `${count} decisions found` : '';
  };

  document.addEventListener('keydown', event => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target === search) {
      if (event.key === 'Escape') { search.value = ''; filter(); search.blur(); }
      if (event.key === 'Enter') { search.blur(); step(1); }
      return;
    }
    if (event.key === 'j') step(1);
    else if (event.key === 'k') step(-1);
    else if (event.key === '/') { event.preventDefault(); search.focus(); }
  });
  search.addEventListener('input', filter);
  window.addEventListener('hashchange', select);
  window.addEventListener('beforeprint', () => all('details').forEach(own => { own.open = true; }));
  select();
})();
