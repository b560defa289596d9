from journeyman import Strategy, Task

print_nothing = Task, Strategy
