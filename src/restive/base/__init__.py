"""The ground floor: errors with a place and a remedy, options, files, words, the machine."""
