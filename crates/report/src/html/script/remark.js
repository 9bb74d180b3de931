// A person's remark about a trial: sent to the server, which keeps it with the run.

function startRemarks() {
  document.addEventListener('submit', async (event) => {
    const form = targetOf(event);
    if (!form.matches('form.remark')) return;
    event.preventDefault();
    const said = form.querySelector('[role=status]');
    const remark = {
      text: form.elements.namedItem('text').value,
      tags: form.elements.namedItem('tags').value.split(',').map((tag) => tag.trim()).filter(Boolean),
    };
    said.textContent = 'keeping …';
    try {
      const answer = await fetch(`trials/${opened}/remark`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify(remark),
      });
      if (answer.ok) for (const field of form.querySelectorAll('textarea, input')) field.defaultValue = field.value;
      said.textContent = answer.ok ? 'kept' : `not kept: ${await answer.text()}`;
    } catch {
      said.textContent = 'not kept: the server does not answer';
    }
  });
}
