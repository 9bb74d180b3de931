// The beginning, when all parts are there.

startRuns();
if (overview) {
  startKeys();
  if (served) {
    startLive();
    startRemarks();
  }
  startList();
  startAddresses();
}
