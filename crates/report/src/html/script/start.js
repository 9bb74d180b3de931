// The beginning, when all parts are there.

startRuns();
startAlone();
if (overview) {
  startKeys();
  if (served) {
    startLive();
    startRemarks();
  }
  startList();
  startAddresses();
}
