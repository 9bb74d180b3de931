(cd @place@ && go doc -all .) > api.txt
