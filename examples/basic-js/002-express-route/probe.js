const server = require('../server.js').listen(0, '127.0.0.1', async () => {
  const answer = await fetch(`http://127.0.0.1:${server.address().port}/health`);
  console.log(answer.status, await answer.text());
  server.close();
});
