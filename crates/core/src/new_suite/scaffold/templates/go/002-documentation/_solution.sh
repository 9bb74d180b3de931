(cd library && go doc -all .) > api.txt
