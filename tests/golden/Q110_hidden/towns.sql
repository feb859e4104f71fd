SELECT town FROM towns, sales
