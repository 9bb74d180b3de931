const http = require('http');
module.exports = http.createServer((request, response) => {
  if (request.url === '/health') return response.end('ok');
  response.statusCode = 404;
  response.end();
});
