// The beginning, when all parts are there.

startTheme();
startRuns();
startAlone();
startChanged();
if (overview) {
  startKeys();
  if (served) {
    startLive();
    startRemarks();
  }
  startList();
  startAddresses();
}
