// The beginning, when all parts are there.

startTheme();
startRuns();
startChanged();
if (overview) {
  startKeys();
  if (served) startLive();
  startList();
  startAddresses();
}
