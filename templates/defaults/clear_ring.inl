// clang-format off
    if (walk.no_products) shared.clear_ring();
