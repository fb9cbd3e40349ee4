"""What the training commands share: text, data, network, optimiser, model directories, scores."""
